; Made by llvm_from_c.py from sources with the digest 93a4452aa50f30e7844218dc7063446c
; with ziglang 0.17.1

%struct.anon = type { [2 x ptr], [2 x ptr], ptr, ptr }
%struct.product = type { i64, i64, i64, i8, i8, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr }

@library = internal global %struct.anon zeroinitializer, align 8
@one64 = internal constant double 1.000000e+00, align 8
@one32 = internal constant float 1.000000e+00, align 4
@.str = private constant [2 x i8] c"C\00", align 1
@.str.1 = private constant [2 x i8] c"T\00", align 1
@quiet = internal constant [3 x ptr] [ptr null, ptr null, ptr @never], align 16

define ptr @libraries() nounwind {
  ret ptr @library
}

define void @sgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  %14 = load i64, ptr %2, align 8
  %15 = load i64, ptr %3, align 8
  %16 = mul i64 %15, %14
  %17 = load i64, ptr %4, align 8
  %18 = mul i64 %16, %17
  %19 = icmp slt i64 %18, 100001
  br i1 %19, label %20, label %22

20:
  %21 = load ptr, ptr @library, align 8
  musttail call void %21(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void

22:
  tail call fastcc void @gemm(i64 0, ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define internal fastcc void @gemm(i64 %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12, ptr %13) nounwind {
  %15 = alloca %struct.product, align 8
  %16 = icmp eq i64 %0, 0
  br i1 %16, label %20, label %17

17:
  %18 = load double, ptr %11, align 8
  %19 = fcmp oeq double %18, 0.000000e+00
  br label %23

20:
  %21 = load float, ptr %11, align 4
  %22 = fcmp oeq float %21, 0.000000e+00
  br label %23

23:
  %24 = phi i1 [ %19, %17 ], [ %22, %20 ]
  %25 = icmp eq ptr %7, %9
  %26 = and i1 %25, %24
  br i1 %26, label %32, label %27

27:
  %28 = load i64, ptr %3, align 8
  %29 = load i64, ptr %4, align 8
  %30 = load i64, ptr %8, align 8
  %31 = load i64, ptr %10, align 8
  br label %46

32:
  %33 = load i64, ptr %8, align 8
  %34 = load i64, ptr %10, align 8
  %35 = icmp eq i64 %33, %34
  %36 = load i64, ptr %3, align 8
  %37 = load i64, ptr %4, align 8
  br i1 %35, label %38, label %46

38:
  %39 = icmp eq i64 %36, %37
  br i1 %39, label %40, label %46

40:
  %41 = load i8, ptr %1, align 1
  %42 = load i8, ptr %2, align 1
  %43 = icmp ne i8 %41, %42
  %44 = icmp sgt i64 %36, 32
  %45 = and i1 %44, %43
  br label %46

46:
  %47 = phi i64 [ %33, %40 ], [ %33, %38 ], [ %34, %32 ], [ %31, %27 ]
  %48 = phi i64 [ %33, %40 ], [ %33, %38 ], [ %33, %32 ], [ %30, %27 ]
  %49 = phi i64 [ %36, %40 ], [ %37, %38 ], [ %37, %32 ], [ %29, %27 ]
  %50 = phi i64 [ %36, %40 ], [ %36, %38 ], [ %36, %32 ], [ %28, %27 ]
  %51 = phi i1 [ %45, %40 ], [ false, %38 ], [ false, %32 ], [ false, %27 ]
  %52 = select i1 %16, ptr @one32, ptr @one64
  store i64 %0, ptr %15, align 8
  %53 = select i1 %16, i64 4, i64 8
  %54 = getelementptr inbounds nuw i8, ptr %15, i64 8
  store i64 %53, ptr %54, align 8
  %55 = zext i1 %51 to i64
  %56 = getelementptr inbounds nuw i8, ptr %15, i64 16
  store i64 %55, ptr %56, align 8
  %57 = load i8, ptr %1, align 1
  %58 = getelementptr inbounds nuw i8, ptr %15, i64 24
  store i8 %57, ptr %58, align 8
  %59 = load i8, ptr %2, align 1
  %60 = getelementptr inbounds nuw i8, ptr %15, i64 25
  store i8 %59, ptr %60, align 1
  %61 = getelementptr inbounds nuw i8, ptr %15, i64 32
  store i64 %50, ptr %61, align 8
  %62 = getelementptr inbounds nuw i8, ptr %15, i64 40
  store i64 %49, ptr %62, align 8
  %63 = load i64, ptr %5, align 8
  %64 = getelementptr inbounds nuw i8, ptr %15, i64 48
  store i64 %63, ptr %64, align 8
  %65 = getelementptr inbounds nuw i8, ptr %15, i64 56
  store i64 %48, ptr %65, align 8
  %66 = getelementptr inbounds nuw i8, ptr %15, i64 64
  store i64 %47, ptr %66, align 8
  %67 = load i64, ptr %13, align 8
  %68 = getelementptr inbounds nuw i8, ptr %15, i64 72
  store i64 %67, ptr %68, align 8
  %69 = getelementptr inbounds nuw i8, ptr %15, i64 112
  store ptr %7, ptr %69, align 8
  %70 = getelementptr inbounds nuw i8, ptr %15, i64 120
  store ptr %9, ptr %70, align 8
  %71 = getelementptr inbounds nuw i8, ptr %15, i64 128
  store ptr %12, ptr %71, align 8
  %72 = getelementptr inbounds nuw i8, ptr %15, i64 136
  store ptr %6, ptr %72, align 8
  %73 = getelementptr inbounds nuw i8, ptr %15, i64 144
  store ptr %11, ptr %73, align 8
  %74 = getelementptr inbounds nuw i8, ptr %15, i64 152
  store ptr %52, ptr %74, align 8
  br i1 %51, label %75, label %76

75:
  call fastcc void @multiply_twins(ptr %15)
  br label %103

76:
  %77 = icmp eq i8 %57, 84
  br i1 %77, label %80, label %78

78:
  %79 = tail call i64 @llvm.smin.i64(i64 %50, i64 %49)
  br label %83

80:
  %81 = icmp eq i8 %59, 78
  %82 = tail call i64 @llvm.smin.i64(i64 %50, i64 %49)
  br i1 %81, label %86, label %83

83:
  %84 = phi i64 [ %79, %78 ], [ %82, %80 ]
  %85 = icmp sgt i64 %63, 2048
  br i1 %85, label %86, label %91

86:
  %87 = phi i64 [ %84, %83 ], [ %82, %80 ]
  %88 = icmp slt i64 %87, 321
  %89 = icmp sgt i64 %63, 47
  %90 = select i1 %88, i1 %89, i1 false
  br i1 %90, label %99, label %100

91:
  %92 = mul i64 %49, %50
  %93 = mul i64 %92, %63
  %94 = icmp sgt i64 %93, 1000000
  br i1 %94, label %95, label %100

95:
  %96 = icmp slt i64 %84, 513
  %97 = icmp slt i64 %63, 65
  %98 = or i1 %97, %96
  br i1 %98, label %99, label %100

99:
  call fastcc void @in_parts(ptr %15)
  br label %103

100:
  %101 = getelementptr inbounds nuw ptr, ptr @library, i64 %0
  %102 = load ptr, ptr %101, align 8
  tail call void %102(ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12, ptr %13)
  br label %103

103:
  ret void
}

define void @dgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  %14 = load i64, ptr %2, align 8
  %15 = load i64, ptr %3, align 8
  %16 = mul i64 %15, %14
  %17 = load i64, ptr %4, align 8
  %18 = mul i64 %16, %17
  %19 = icmp slt i64 %18, 100001
  br i1 %19, label %20, label %22

20:
  %21 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 8), align 8
  musttail call void %21(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void

22:
  tail call fastcc void @gemm(i64 1, ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define internal fastcc void @multiply_twins(ptr %0) nounwind {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %3 = load i64, ptr %2, align 8
  %4 = icmp slt i64 %3, 513
  br i1 %4, label %15, label %5

5:
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 72
  br label %16

15:
  tail call fastcc void @in_parts(ptr %0)
  ret void

16:
  %17 = phi i64 [ %3, %5 ], [ %41, %48 ]
  %18 = lshr i64 %17, 1
  %19 = and i64 %18, 4611686018427387840
  %20 = sub nsw i64 %17, %19
  %21 = load i64, ptr %6, align 8
  tail call fastcc void @multiply_block(ptr %0, i64 %19, i64 0, i64 %20, i64 %19, i64 0, i64 %21)
  %22 = load i64, ptr %2, align 8
  %23 = icmp slt i64 %19, %22
  br i1 %23, label %24, label %37

24:
  %25 = phi i64 [ %35, %33 ], [ %19, %16 ]
  br label %26

26:
  %27 = phi i64 [ %31, %26 ], [ 0, %24 ]
  %28 = load i64, ptr %2, align 8
  %29 = sub i64 %28, %25
  %30 = tail call i64 @llvm.smin.i64(i64 %29, i64 64)
  tail call fastcc void @mirror(ptr %0, i64 %25, i64 %27, i64 %30, i64 64)
  %31 = add nuw nsw i64 %27, 64
  %32 = icmp samesign ult i64 %31, %19
  br i1 %32, label %26, label %33

33:
  %34 = load i64, ptr %2, align 8
  %35 = add i64 %25, 64
  %36 = icmp slt i64 %35, %34
  br i1 %36, label %24, label %37

37:
  %38 = phi i64 [ %22, %16 ], [ %34, %33 ]
  %39 = load ptr, ptr %7, align 8
  %40 = load ptr, ptr %8, align 8
  store i64 %19, ptr %9, align 8
  store i64 %19, ptr %2, align 8
  tail call fastcc void @multiply_twins(ptr %0)
  %41 = sub i64 %38, %19
  store i64 %41, ptr %9, align 8
  store i64 %41, ptr %2, align 8
  %42 = load i64, ptr %10, align 8
  %43 = load i8, ptr %11, align 8
  %44 = icmp eq i8 %43, 78
  br i1 %44, label %48, label %45

45:
  %46 = load i64, ptr %12, align 8
  %47 = mul i64 %46, %19
  br label %48

48:
  %49 = phi i64 [ %47, %45 ], [ %19, %37 ]
  %50 = mul i64 %49, %42
  %51 = getelementptr inbounds i8, ptr %39, i64 %50
  store ptr %51, ptr %13, align 8
  store ptr %51, ptr %7, align 8
  %52 = load i64, ptr %14, align 8
  %53 = add i64 %52, 1
  %54 = mul i64 %42, %19
  %55 = mul i64 %54, %53
  %56 = getelementptr inbounds i8, ptr %40, i64 %55
  store ptr %56, ptr %8, align 8
  %57 = icmp slt i64 %41, 513
  br i1 %57, label %15, label %16
}

define internal fastcc void @in_parts(ptr %0) nounwind {
  %2 = alloca [2 x i64], align 16
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %4 = load i64, ptr %3, align 8
  %5 = icmp eq i64 %4, 0
  br i1 %5, label %6, label %15

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %8 = load i8, ptr %7, align 8
  %9 = icmp eq i8 %8, 84
  br i1 %9, label %10, label %15

10:
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %12 = load i8, ptr %11, align 1
  %13 = icmp eq i8 %12, 78
  %14 = select i1 %13, i64 32, i64 64
  br label %15

15:
  %16 = phi i64 [ 32, %1 ], [ 64, %6 ], [ %14, %10 ]
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %16, ptr %17, align 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %19 = load i64, ptr %18, align 8
  %20 = add nsw i64 %16, -1
  %21 = add i64 %20, %19
  %22 = sdiv i64 %21, %16
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %24 = load i64, ptr %23, align 8
  %25 = add i64 %24, 31
  %26 = sdiv i64 %25, 32
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %28 = load i64, ptr %27, align 8
  %29 = icmp sgt i64 %28, 2048
  %30 = select i1 %29, i64 480, i64 %28
  %31 = icmp sgt i64 %24, %19
  %32 = select i1 %31, i64 %22, i64 %26
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %32, ptr %33, align 8
  %34 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 40), align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %44, label %36

36:
  %37 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 32), align 8
  %38 = tail call i32 %37()
  %39 = sext i32 %38 to i64
  %40 = load i64, ptr %18, align 8
  %41 = load i64, ptr %23, align 8
  %42 = load i64, ptr %3, align 8
  %43 = load i64, ptr %27, align 8
  br label %44

44:
  %45 = phi i64 [ %43, %36 ], [ %28, %15 ]
  %46 = phi i64 [ %42, %36 ], [ %4, %15 ]
  %47 = phi i64 [ %41, %36 ], [ %24, %15 ]
  %48 = phi i64 [ %40, %36 ], [ %19, %15 ]
  %49 = phi i64 [ %39, %36 ], [ 1, %15 ]
  store i64 160, ptr %2, align 16
  %50 = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 0, ptr %50, align 8
  %51 = mul i64 %48, %30
  %52 = mul i64 %51, %47
  %53 = load i64, ptr %0, align 8
  %54 = icmp eq i64 %53, 0
  %55 = zext i1 %54 to i64
  %56 = ashr i64 %52, %55
  %57 = ashr i64 %56, %46
  %58 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 0, ptr %58, align 8
  %59 = icmp sgt i64 %45, 0
  br i1 %59, label %60, label %79

60:
  %61 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %62 = icmp slt i64 %49, 2
  %63 = mul i64 %26, %22
  br label %64

64:
  %65 = phi i64 [ %45, %60 ], [ %77, %74 ]
  %66 = phi i64 [ 0, %60 ], [ %76, %74 ]
  %67 = add i64 %66, %30
  %68 = call i64 @llvm.smin.i64(i64 %67, i64 %65)
  store i64 %68, ptr %61, align 8
  br i1 %62, label %69, label %71

69:
  %70 = call i64 @run_parts(ptr %0, i64 0, i64 %63, ptr poison)
  br label %74

71:
  %72 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 40), align 8
  %73 = call i64 %72(ptr @run_parts, ptr %0, i64 0, i64 %63, ptr @quiet, ptr null, i64 %57, i64 %63, i64 %49, ptr %2)
  br label %74

74:
  %75 = load i64, ptr %58, align 8
  %76 = add i64 %75, %30
  store i64 %76, ptr %58, align 8
  %77 = load i64, ptr %27, align 8
  %78 = icmp slt i64 %76, %77
  br i1 %78, label %64, label %79

79:
  ret void
}

define internal fastcc void @multiply_block(ptr %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) nounwind {
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  store i64 %3, ptr %8, align 8
  store i64 %4, ptr %9, align 8
  store i64 %6, ptr %10, align 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %16 = load i8, ptr %15, align 8
  %17 = icmp eq i8 %16, 78
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %19 = load i64, ptr %18, align 8
  %20 = select i1 %17, i64 %5, i64 %1
  %21 = select i1 %17, i64 %1, i64 %5
  %22 = mul i64 %19, %20
  %23 = add i64 %22, %21
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %25 = load ptr, ptr %24, align 8
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %27 = load i8, ptr %26, align 1
  %28 = icmp eq i8 %27, 78
  %29 = select i1 %28, i64 %2, i64 %5
  %30 = select i1 %28, i64 %5, i64 %2
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %32 = load i64, ptr %31, align 8
  %33 = mul i64 %32, %29
  %34 = add i64 %33, %30
  %35 = load i64, ptr %0, align 8
  %36 = getelementptr inbounds ptr, ptr @library, i64 %35
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %39 = load ptr, ptr %38, align 8
  %40 = icmp eq i64 %5, 0
  %41 = select i1 %40, i64 144, i64 152
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 %41
  %43 = load ptr, ptr %42, align 8
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %46 = mul i64 %34, %14
  %47 = getelementptr inbounds i8, ptr %25, i64 %46
  %48 = mul i64 %23, %14
  %49 = getelementptr inbounds i8, ptr %12, i64 %48
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %51 = load ptr, ptr %50, align 8
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %53 = load i64, ptr %52, align 8
  %54 = mul i64 %53, %2
  %55 = add i64 %54, %1
  %56 = mul i64 %55, %14
  %57 = getelementptr inbounds i8, ptr %51, i64 %56
  call void %37(ptr %15, ptr %26, ptr %8, ptr %9, ptr %10, ptr %39, ptr %49, ptr %45, ptr %47, ptr %44, ptr %43, ptr %57, ptr %52)
  ret void
}

define internal fastcc void @mirror(ptr %0, i64 %1, i64 %2, i64 %3, i64 %4) nounwind {
  %6 = alloca i64, align 8
  %7 = alloca i64, align 8
  store i64 %3, ptr %6, align 8
  store i64 %4, ptr %7, align 8
  %8 = load i64, ptr %0, align 8
  %9 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 16), i64 %8
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, %2
  %20 = add i64 %19, %1
  %21 = mul i64 %20, %16
  %22 = getelementptr inbounds i8, ptr %14, i64 %21
  %23 = mul i64 %18, %1
  %24 = add i64 %23, %2
  %25 = mul i64 %24, %16
  %26 = getelementptr inbounds i8, ptr %14, i64 %25
  call void %10(ptr @.str, ptr @.str.1, ptr %6, ptr %7, ptr %12, ptr %22, ptr %17, ptr %26, ptr %17)
  ret void
}

define internal i64 @run_parts(ptr %0, i64 %1, i64 %2, ptr %3) nounwind {
  %5 = icmp slt i64 %1, %2
  br i1 %5, label %6, label %64

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 48
  br label %15

15:
  %16 = phi i64 [ %1, %6 ], [ %62, %61 ]
  %17 = load i64, ptr %7, align 8
  %18 = sdiv i64 %16, %17
  %19 = mul i64 %18, %17
  %20 = srem i64 %16, %17
  %21 = load i64, ptr %8, align 8
  %22 = load i64, ptr %9, align 8
  %23 = icmp sgt i64 %21, %22
  %24 = select i1 %23, i64 %20, i64 %18
  %25 = load i64, ptr %10, align 8
  %26 = mul i64 %24, %25
  %27 = select i1 %23, i64 %18, i64 %20
  %28 = shl i64 %27, 5
  %29 = load i64, ptr %11, align 8
  %30 = icmp ne i64 %29, 0
  %31 = icmp slt i64 %26, %28
  %32 = select i1 %30, i1 %31, i1 false
  br i1 %32, label %61, label %33

33:
  %34 = sub i64 %22, %26
  %35 = tail call i64 @llvm.smin.i64(i64 %25, i64 %34)
  %36 = sub i64 %21, %28
  %37 = tail call i64 @llvm.smin.i64(i64 %36, i64 32)
  %38 = load i64, ptr %12, align 8
  %39 = load i64, ptr %13, align 8
  %40 = icmp slt i64 %38, %39
  br i1 %40, label %41, label %51

41:
  %42 = phi i64 [ %47, %41 ], [ %39, %33 ]
  %43 = phi i64 [ %46, %41 ], [ %38, %33 ]
  %44 = sub i64 %42, %43
  %45 = tail call i64 @llvm.smin.i64(i64 %44, i64 480)
  tail call fastcc void @multiply_block(ptr %0, i64 %26, i64 %28, i64 %35, i64 %37, i64 %43, i64 %45)
  %46 = add i64 %43, 480
  %47 = load i64, ptr %13, align 8
  %48 = icmp slt i64 %46, %47
  br i1 %48, label %41, label %49

49:
  %50 = load i64, ptr %11, align 8
  br label %51

51:
  %52 = phi i64 [ %29, %33 ], [ %50, %49 ]
  %53 = phi i64 [ %39, %33 ], [ %47, %49 ]
  %54 = icmp ne i64 %52, 0
  %55 = icmp sgt i64 %26, %28
  %56 = select i1 %54, i1 %55, i1 false
  br i1 %56, label %57, label %61

57:
  %58 = load i64, ptr %14, align 8
  %59 = icmp eq i64 %53, %58
  br i1 %59, label %60, label %61

60:
  tail call fastcc void @mirror(ptr %0, i64 %26, i64 %28, i64 %35, i64 %37)
  br label %61

61:
  %62 = add nsw i64 %16, 1
  %63 = icmp eq i64 %62, %2
  br i1 %63, label %64, label %15

64:
  ret i64 0
}

define internal i64 @never(ptr %0) nounwind {
  ret i64 0
}

declare i64 @llvm.smin.i64(i64, i64)

